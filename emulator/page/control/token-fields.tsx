import { readAddresses } from '../api/addresses.js';
import { Facts } from '../components/facts.js';
import { Check, Choice, toggled } from '../components/fields.js';
import { useLoaded } from '../components/loaded.js';

/** Scopes (permissions of a token) that the specification defines, grouped under headings. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Git', ['git:read', 'git:write']],
  ['Repositories', ['repo:write', 'org:read']],
  ['Deployments', ['deployment:read', 'deployment:write']],
];

interface ScopeChoiceProps {
  readonly legend: string;
  readonly value: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}

export function ScopeChoice({ legend, value, onChange }: ScopeChoiceProps) {
  const checkOf = (scope: string) => (
    <Check
      key={scope}
      label={scope}
      isChecked={value.includes(scope)}
      onChange={() => onChange(toggled(value, scope))}
    />
  );
  return (
    <fieldset>
      <legend>{legend}</legend>
      <Facts facts={GROUPS.map(([title, names]) => [title, names.map(checkOf), 'scopes'])} />
    </fieldset>
  );
}

export interface OrganizationChoiceProps {
  /** Name of the selected organization. Empty for the organization that the host in the page's URL selects. */
  readonly value: string;
  readonly onChange: (organization: string) => void;
}

export function OrganizationChoice(props: OrganizationChoiceProps) {
  const { value } = useLoaded(readAddresses, []);
  return (
    <Choice
      label="Organization"
      options={[['', 'the one at this address'], ...(value?.orgs.map(({ org }) => org) ?? [])]}
      {...props}
    />
  );
}
