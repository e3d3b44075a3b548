import { type EmulatorOptions, resolveOptions } from '../config/options.js';
import { lazy } from '../memory/lazy.js';
import type { Organization } from './organizations.js';

/** Options of `start` that set a world up. */
const OPTIONS = [
  'seed',
  'clock',
  'variants',
  'limits',
  'fsck',
  'forgePrefix',
  'upstreamHost',
  'allowUpstream',
  'allowWebhook',
  'webhookPrefix',
] as const satisfies readonly (keyof EmulatorOptions)[];

type WorldOptions = Pick<EmulatorOptions, (typeof OPTIONS)[number]>;

/** How the world was set up: nothing a request does changes any of it. */
export interface WorldConfig extends WorldOptions {
  /** The organizations as they are at the start. */
  readonly organizations: readonly Organization[];
}

/** What is not given is as it is without any option. */
export type GivenConfig = Pick<WorldConfig, 'organizations'> & Partial<WorldConfig>;

const defaults = lazy(() => worldOptions(resolveOptions()));

export function worldConfig(given: GivenConfig): WorldConfig {
  return { ...defaults(), ...given };
}

/** Returns those of the options that set a world up. */
export function worldOptions(options: EmulatorOptions): WorldOptions {
  return Object.fromEntries(OPTIONS.map((name) => [name, options[name]])) as unknown as WorldOptions;
}
