import type { KeyRing } from '../auth/keys.js';
import type { StatePart } from './state-part.js';

/** An organization as it stands: an immutable value. */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /** Whether tokens can be verified now; while not, every request is 403 `authentication_unavailable`. */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /** Applications on the external forge. Anything but one is 412 `forge_app_not_configured`. */
  readonly forgeApps: number;
}

export class Organizations implements StatePart<ReadonlyMap<string, Organization>> {
  private byName: ReadonlyMap<string, Organization>;

  constructor(organizations: readonly Organization[]) {
    this.byName = new Map(organizations.map((organization) => [organization.name, organization]));
  }

  get(name: string): Organization | undefined {
    return this.byName.get(name);
  }

  list(): Organization[] {
    return [...this.byName.values()];
  }

  update(name: string, changes: Partial<Omit<Organization, 'name'>>): void {
    const organization = this.byName.get(name);
    if (!organization) throw new Error(`There is no organization ${name}.`);
    this.byName = new Map(this.byName).set(name, { ...organization, ...changes });
  }

  snapshot(): ReadonlyMap<string, Organization> {
    return this.byName;
  }

  restore(byName: ReadonlyMap<string, Organization>): void {
    this.byName = byName;
  }
}
