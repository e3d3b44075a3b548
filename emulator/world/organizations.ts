import type { KeyRing } from '../auth/keys.js';
import type { Clock } from '../time/clock.js';
import { countRequest, type Expiry, isExpired } from '../time/expiry.js';
import { ValuePart } from './state-part.js';

/**
 * Organization (tenant of the service) with its keys and switches, as an immutable value. A change creates a new value.
 */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /**
   * False if a test has made the verification of tokens unavailable. Every request of the organization is then refused
   * with 403 `authentication_unavailable`.
   */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /**
   * Number of applications that the organization has on the external forge, from which repositories are synchronized.
   * Operations that need exactly one are refused with 412 `forge_app_not_configured` if the number is not 1.
   */
  readonly forgeApps: number;
  /**
   * Failure that a test has set for all upstreams (repositories on an external forge) of the organization; undefined if
   * upstreams are really contacted.
   */
  readonly upstreamFailure?: UpstreamFailure | undefined;
  /**
   * Condition that ends temporary switches, and the values that the switches have afterwards; undefined if no switch is
   * temporary.
   */
  readonly temporary?: { readonly ends: Expiry; readonly after: Switches } | undefined;
}

export interface UpstreamFailure {
  /** Error message that clients see. */
  readonly message: string;
  /** HTTP status that the upstream seems to respond with; undefined if the failure has none. */
  readonly status?: number | undefined;
}

/** Switches of an organization: members that a test can change to make operations fail. */
export type Switches = Pick<
  Organization,
  'authenticationAvailable' | 'hostingEnabled' | 'forgeApps' | 'upstreamFailure'
>;

/**
 * Returns the organization as it is at the time `now`: if its temporary switches have expired, with the values that
 * follow them.
 */
function settled(organization: Organization, now: number): Organization {
  const { temporary, ...rest } = organization;
  return temporary && isExpired(temporary.ends, now) ? { ...rest, ...temporary.after } : organization;
}

/** All organizations of a world (state of one emulated service), by name. */
export class Organizations extends ValuePart<ReadonlyMap<string, Organization>> {
  constructor(
    organizations: readonly Organization[],
    private readonly clock: Clock,
  ) {
    super(new Map(organizations.map((organization) => [organization.name, organization])));
  }

  get(name: string): Organization | undefined {
    const organization = this.value.get(name);
    return organization?.temporary ? settled(organization, this.clock.now()) : organization;
  }

  list(): Organization[] {
    const now = this.clock.now();
    return Array.from(this.value.values(), (organization) => settled(organization, now));
  }

  /**
   * Counts a request that the switch `by` of an organization refused. The count matters only if the switch is temporary
   * and ends after a number of refused requests.
   */
  countRefusal(name: string, by: keyof Switches): void {
    const organization = this.get(name);
    if (!organization?.temporary || organization.temporary.after[by] === organization[by]) return;
    const ends = countRequest(organization.temporary.ends);
    this.put({ ...organization, temporary: { ...organization.temporary, ends } });
  }

  /**
   * Sets switches of an organization. With `ends`, the values are temporary. Switches that are still temporary are
   * first set to the values that follow them.
   */
  set(name: string, switches: Partial<Switches>, ends?: Expiry): void {
    const { temporary, ...rest } = this.require(name);
    const before = { ...rest, ...temporary?.after };
    const { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure } = before;
    const after = { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure };
    this.put({ ...before, ...switches, ...(ends && { temporary: { ends, after } }) });
  }

  /**
   * Ends the temporary switches of all organizations that last until a test releases the latch `signal` (named signal
   * for which faults and states wait). Returns the number of organizations whose switches were ended.
   */
  signal(signal: string): number {
    const ending = [...this.value.values()].filter(({ temporary }) => temporary?.ends.signal === signal);
    for (const { temporary, ...rest } of ending) this.put({ ...rest, ...temporary!.after });
    return ending.length;
  }

  update(name: string, changes: Partial<Omit<Organization, 'name'>>): void {
    this.put({ ...this.require(name), ...changes });
  }

  private require(name: string): Organization {
    const organization = this.get(name);
    if (!organization) throw new Error(`The organization ${name} does not exist.`);
    return organization;
  }

  private put(organization: Organization): void {
    this.value = new Map(this.value).set(organization.name, organization);
  }
}
