import type { ComponentType } from 'preact';
import { Choice } from '../components/fields.js';
import { useTitle } from '../components/hooks.js';
import { go, place, writePlace } from '../place.js';
import { About } from './about.js';
import { ClockPart } from './clock.js';
import { KeysPart } from './keys.js';
import { NamespacesPart } from './namespaces.js';
import { OrganizationsPart } from './organizations.js';
import { QuotasPart } from './quotas.js';
import { SnapshotsPart } from './snapshots.js';
import { TokenPart } from './token.js';
import { VariantsPart } from './variants.js';
import { WebhooksPart } from './webhooks.js';

interface Part {
  /** Value of the parameter `part` in the page's URL, such as `clock` in `#/control?part=clock`. */
  readonly id: string;
  readonly title: string;
  readonly Content: ComponentType;
}

const PARTS: readonly Part[] = [
  { id: 'clock', title: 'Clock', Content: ClockPart },
  { id: 'token', title: 'Create a token', Content: TokenPart },
  { id: 'keys', title: 'Keys', Content: KeysPart },
  { id: 'quotas', title: 'Quotas', Content: QuotasPart },
  { id: 'organizations', title: 'Organizations', Content: OrganizationsPart },
  { id: 'variants', title: 'Variants', Content: VariantsPart },
  { id: 'webhooks', title: 'Webhooks', Content: WebhooksPart },
  { id: 'namespaces', title: 'Namespaces', Content: NamespacesPart },
  { id: 'snapshots', title: 'Snapshots and reset', Content: SnapshotsPart },
  { id: 'about', title: 'About', Content: About },
];

/**
 * Section of the web page with settings of the whole emulator, such as its clock. It shows one part of the settings at
 * a time.
 */
export function View() {
  const { part = PARTS[0]!.id } = place.value.params;
  const shown = PARTS.find(({ id }) => id === part) ?? PARTS[0]!;
  useTitle(`Control: ${shown.title}`);
  const lead = (id: string) => writePlace('control', { part: id });
  return (
    <div class="control">
      <nav class="parts" aria-label="Parts">
        {PARTS.map(({ id, title }) => (
          <a key={id} href={lead(id)} aria-current={id === shown.id ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Choice
        label="Part"
        fieldClass="parts-select"
        value={shown.id}
        options={PARTS.map(({ id, title }) => [id, title] as const)}
        onChange={(id) => go(lead(id))}
      />
      <section class="part" key={shown.id} aria-labelledby="part">
        <h1 id="part">{shown.title}</h1>
        <shown.Content />
      </section>
    </div>
  );
}
