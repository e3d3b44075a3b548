import type { KeyRing } from '../auth/keys.js';
import type { Clock } from '../time/clock.js';
import { countRequest, type Expiry, isExpired } from '../time/expiry.js';
import { ValuePart } from './state-part.js';

/**
 * Organization (tenant of the service) with its keys and switches, as an immutable value. Each change creates a new
 * value.
 */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /**
   * False if a test has made token verification unavailable. Every request of the organization is then refused with 403
   * `authentication_unavailable`.
   */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /**
   * Number of the organization's applications on the external forge, from which repositories are synchronized. Some
   * operations need exactly one, and are otherwise refused with 412 `forge_app_not_configured`.
   */
  readonly forgeApps: number;
  /**
   * Failure that a test has set for all upstreams (repositories on an external forge) of the organization. Undefined if
   * upstreams are really contacted.
   */
  readonly upstreamFailure?: UpstreamFailure | undefined;
  /**
   * Condition that ends temporary switches, and the values of the switches after that. Undefined if no switch is
   * temporary.
   */
  readonly temporary?: { readonly ends: Expiry; readonly after: Switches } | undefined;
}

export interface UpstreamFailure {
  /** Error message that clients see. */
  readonly message: string;
  /** HTTP status that the upstream seems to send; undefined if the failure has no status. */
  readonly status?: number | undefined;
}

/** Members of an organization that a test can change to make operations fail. */
export type Switches = Pick<
  Organization,
  'authenticationAvailable' | 'hostingEnabled' | 'forgeApps' | 'upstreamFailure'
>;

/**
 * Returns the organization as it is at the time `now`. If its temporary switches have expired, they have the values
 * that follow.
 */
function settled(organization: Organization, now: number): Organization {
  const { temporary, ...rest } = organization;
  return temporary && isExpired(temporary.ends, now) ? { ...rest, ...temporary.after } : organization;
}

/** All organizations of a world (state of an emulated service), by name. */
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
   * Counts a request that the switch `by` of an organization refused. The count has an effect only if the switch ends
   * after a number of refused requests.
   */
  countRefusal(name: string, by: keyof Switches): void {
    const organization = this.get(name);
    if (!organization?.temporary || organization.temporary.after[by] === organization[by]) return;
    const ends = countRequest(organization.temporary.ends);
    this.put({ ...organization, temporary: { ...organization.temporary, ends } });
  }

  /**
   * Sets switches of an organization. With `ends`, the new values are temporary. Earlier temporary values end first.
   */
  set(name: string, switches: Partial<Switches>, ends?: Expiry): void {
    const { temporary, ...rest } = this.require(name);
    const before = { ...rest, ...temporary?.after };
    const { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure } = before;
    const after = { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure };
    this.put({ ...before, ...switches, ...(ends && { temporary: { ends, after } }) });
  }

  /**
   * Ends the temporary switches that last until the latch `signal` is released, in all organizations. A latch is a
   * named signal for which faults and states wait. Returns the number of organizations with ended switches.
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
