import { DEFAULT_LIMITS, type Limits } from '../config/limits.js';
import { DEFAULT_VARIANTS, type Variants } from '../config/variants.js';
import type { Organization } from './organizations.js';

/** Where the world may reach out to. Loopback is always allowed, anything else has to be named. */
export interface OutsideConfig {
  /** Origins that stand in for external forges, by provider name. */
  readonly upstreamHost: Readonly<Record<string, string>>;
  readonly allowUpstream: readonly string[];
  readonly allowWebhook: readonly string[];
  /** What the names of webhook headers start with. */
  readonly webhookPrefix: string;
}

/** How the world was set up: nothing a request does changes any of it. */
export interface WorldConfig {
  /** The organizations as they are at the start. */
  readonly organizations: readonly Organization[];
  readonly seed: string;
  /** The machine's time, or milliseconds at which a stepping clock starts. */
  readonly clock: 'real' | number;
  readonly variants: Variants;
  readonly limits: Limits;
  /** Whether pushed objects are checked as `git fsck --strict` does. */
  readonly fsck: 'strict' | 'off';
  /** What the codes of errors about the external forge start with. */
  readonly forgePrefix: string;
  readonly outside: OutsideConfig;
}

/** What is not given is as it is without any option. */
export type GivenConfig = Pick<WorldConfig, 'organizations'> & Partial<WorldConfig>;

export function worldConfig(given: GivenConfig): WorldConfig {
  return {
    seed: '1',
    clock: 'real',
    variants: DEFAULT_VARIANTS,
    limits: DEFAULT_LIMITS,
    fsck: 'strict',
    forgePrefix: 'forge',
    outside: { upstreamHost: {}, allowUpstream: [], allowWebhook: [], webhookPrefix: 'X-Pierre' },
    ...given,
  };
}
