import { type EmulatorOptions, resolveOptions } from '../config/options.js';
import { lazy } from '../memory/lazy.js';
import type { Organization } from './organizations.js';

/** Names of the start options that configure a world (state of an emulated service). */
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

/** Configuration of a world (state of an emulated service). It is fixed when the world is created. */
export interface WorldConfig extends WorldOptions {
  /** Organizations that exist at the start. */
  readonly organizations: readonly Organization[];
}

/**
 * Configuration of a world (state of an emulated service) as given by the caller. Absent members get defaults; only
 * `organizations` is required.
 */
export type GivenConfig = Pick<WorldConfig, 'organizations'> & Partial<WorldConfig>;

const defaults = lazy(() => worldOptions(resolveOptions()));

export function worldConfig(given: GivenConfig): WorldConfig {
  return { ...defaults(), ...given };
}

/** Returns the start options that configure a world (state of an emulated service). */
export function worldOptions(options: EmulatorOptions): WorldOptions {
  return Object.fromEntries(OPTIONS.map((name) => [name, options[name]])) as unknown as WorldOptions;
}
