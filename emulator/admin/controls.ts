import { z } from 'zod';

/** What a namespace starts with: options of `start`, and where it starts. */
export const namespaceOptions = z
  .strictObject({
    seed: z.string(),
    clock: z.string(),
    variants: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.int().min(0)),
    snapshot: z.string(),
  })
  .partial();

const organizationAddress = z.object({
  org: z.string(),
  base_url: z.string(),
  git_url: z.string(),
  git_host: z.string(),
  local_url: z.string().optional(),
  https_base_url: z.string().optional(),
  https_git_url: z.string().optional(),
  https_git_host: z.string().optional(),
});

/** The members of the ready line, and the id. */
export const namespaceRecord = organizationAddress.extend({
  id: z.string(),
  orgs: z.array(organizationAddress),
  key_id: z.string().nullable(),
  key_file: z.string().nullable(),
  admin_url: z.string(),
  pid: z.int(),
});

/** What `GET addresses` answers. */
export const addressesRecord = z.object({
  namespace: z.string().optional().meta({ description: 'Id of the namespace that answers.' }),
  orgs: z.array(organizationAddress),
  hosts: z
    .array(z.object({ host: z.string(), org: z.string() }))
    .meta({ description: 'Hosts that clients have built in, whose HTTPS arrives by a proxy.' }),
});

export type AddressesView = z.infer<typeof addressesRecord>;

export type NamespaceView = z.infer<typeof namespaceRecord>;

/** Namespaces that were made from one world, and all of them for the world that the emulator started with. */
export interface NamespaceControl {
  /** Makes a namespace, of a snapshot of the world if one is named. Throws `bad_request` and `service_unavailable`. */
  make(options: z.infer<typeof namespaceOptions>): Promise<NamespaceView>;
  list(): NamespaceView[];
  get(id: string): NamespaceView | undefined;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
}

/** What the admin routes steer and is not a part of the world. */
export interface AdminControls {
  /** Whether the published test keys are registered at the start. */
  readonly hasTestKeys: boolean;
  /** Whether they cannot be registered either. */
  readonly refusesTestKeys: boolean;
  /**
   * Saves the state, where it is kept, and begins to close the emulator; requests that are under way are answered. Returns, or
   * resolves to, false if the state could not be saved.
   */
  shutDown(): unknown;
  readonly namespaces: NamespaceControl;
  /** By which addresses its organizations are reached. */
  addresses(): AddressesView;
  /** What clients have to trust, as PEM; undefined where no HTTPS is served. */
  readonly trust?: string | undefined;
  /** Aborted as soon as the emulator begins to close. */
  readonly closing: AbortSignal;
}
