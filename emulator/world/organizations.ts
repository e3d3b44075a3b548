import type { KeyRing } from '../auth/keys.js';
import type { Clock } from '../time/clock.js';
import { countRequest, type Expiry, isExpired } from '../time/expiry.js';
import { ValuePart } from './state-part.js';

/** An organization as it stands: an immutable value. */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /** Whether tokens can be verified now; while not, every request is 403 `authentication_unavailable`. */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /** Applications on the external forge. Anything but one is 412 `forge_app_not_configured`. */
  readonly forgeApps: number;
  /** What its upstreams answer while they cannot be read; without it they are asked. */
  readonly upstreamFailure?: UpstreamFailure | undefined;
  /** Switches that were set for a while, and those that come back after it. */
  readonly temporary?: { readonly ends: Expiry; readonly after: Switches } | undefined;
}

export interface UpstreamFailure {
  /** Shown to clients. */
  readonly message: string;
  /** The HTTP status of the upstream. */
  readonly status?: number | undefined;
}

/** What can be set while the service runs. */
export type Switches = Pick<
  Organization,
  'authenticationAvailable' | 'hostingEnabled' | 'forgeApps' | 'upstreamFailure'
>;

/** The organization without what is over. */
function settled(organization: Organization, now: number): Organization {
  const { temporary, ...rest } = organization;
  return temporary && isExpired(temporary.ends, now) ? { ...rest, ...temporary.after } : organization;
}

/** By name. */
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

  /** Counts a request that a switch refused, if the switch was set for a number of requests. */
  countRefusal(name: string, by: keyof Switches): void {
    const organization = this.get(name);
    if (!organization?.temporary || organization.temporary.after[by] === organization[by]) return;
    const ends = countRequest(organization.temporary.ends);
    this.put({ ...organization, temporary: { ...organization.temporary, ends } });
  }

  /** Sets switches; with `ends`, for a while. What was set for a while before goes back first. */
  set(name: string, switches: Partial<Switches>, ends?: Expiry): void {
    const { temporary, ...rest } = this.require(name);
    const before = { ...rest, ...temporary?.after };
    const { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure } = before;
    const after = { authenticationAvailable, hostingEnabled, forgeApps, upstreamFailure };
    this.put({ ...before, ...switches, ...(ends && { temporary: { ends, after } }) });
  }

  /** Ends what was set until this signal. Returns in how many organizations. */
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
    if (!organization) throw new Error(`There is no organization ${name}.`);
    return organization;
  }

  private put(organization: Organization): void {
    this.value = new Map(this.value).set(organization.name, organization);
  }
}
