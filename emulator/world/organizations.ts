import type { KeyRing } from '../auth/keys.js';
import type { Clock } from '../time/clock.js';
import { countRequest, type Expiry, isExpired } from '../time/expiry.js';
import { ValuePart } from './state-part.js';

/** Organization with its keys and switches, as an immutable value. */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /** False if tokens cannot be verified. Every request is then 403 `authentication_unavailable`. */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /**
   * Number of applications of the organization on the external forge. Operations that need exactly one are otherwise
   * refused with 412 `forge_app_not_configured`.
   */
  readonly forgeApps: number;
  /** Failure that a test has set for all upstreams of the organization; undefined if upstreams are contacted. */
  readonly upstreamFailure?: UpstreamFailure | undefined;
  /** End of temporary switches, and the values that apply afterwards. */
  readonly temporary?: { readonly ends: Expiry; readonly after: Switches } | undefined;
}

export interface UpstreamFailure {
  /** Error message, which clients see. */
  readonly message: string;
  /** HTTP status of the upstream. */
  readonly status?: number | undefined;
}

/** Members of an organization that a test can set. */
export type Switches = Pick<
  Organization,
  'authenticationAvailable' | 'hostingEnabled' | 'forgeApps' | 'upstreamFailure'
>;

/** Returns the organization without temporary switches that have expired. */
function settled(organization: Organization, now: number): Organization {
  const { temporary, ...rest } = organization;
  return temporary && isExpired(temporary.ends, now) ? { ...rest, ...temporary.after } : organization;
}

/** Organizations by name. */
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

  /** Counts a request that was refused because of a switch, if the switch is set to end after a number of requests. */
  countRefusal(name: string, by: keyof Switches): void {
    const organization = this.get(name);
    if (!organization?.temporary || organization.temporary.after[by] === organization[by]) return;
    const ends = countRequest(organization.temporary.ends);
    this.put({ ...organization, temporary: { ...organization.temporary, ends } });
  }

  /**
   * Sets switches of an organization. With `ends`, they are temporary. Switches that were temporary before are reset
   * first.
   */
  set(name: string, switches: Partial<Switches>, ends?: Expiry): void {
    const { temporary, ...rest } = this.require(name);
    const before = { ...rest, ...temporary?.after };
    const { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure } = before;
    const after = { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure };
    this.put({ ...before, ...switches, ...(ends && { temporary: { ends, after } }) });
  }

  /**
   * Ends temporary switches that last until this signal (the name of a latch). Returns the number of organizations
   * concerned.
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
    if (!organization) throw new Error(`Organization ${name} does not exist.`);
    return organization;
  }

  private put(organization: Organization): void {
    this.value = new Map(this.value).set(organization.name, organization);
  }
}
