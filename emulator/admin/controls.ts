import { z } from 'zod';

/** Options of a new namespace: options of `start`, and the snapshot to copy. */
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

/** Members of the ready line, and the id of the namespace. */
export const namespaceRecord = organizationAddress.extend({
  id: z.string(),
  orgs: z.array(organizationAddress),
  key_id: z.string().nullable(),
  key_file: z.string().nullable(),
  admin_url: z.string(),
  pid: z.int(),
});

/** Body of the response to `GET addresses`. */
export const addressesRecord = z.object({
  namespace: z
    .string()
    .optional()
    .meta({ description: 'Id of the namespace; absent in the first world of the emulator.' }),
  orgs: z.array(organizationAddress),
  hosts: z
    .array(z.object({ host: z.string(), org: z.string() }))
    .meta({ description: 'Hosts that clients have built in; their HTTPS requests arrive through a proxy.' }),
});

export type AddressesView = z.infer<typeof addressesRecord>;

export type NamespaceView = z.infer<typeof namespaceRecord>;

/** Namespaces that were created from one world. For the world with which the emulator started: all namespaces. */
export interface NamespaceControl {
  /**
   * Creates a namespace, from a snapshot of the world if the options name one. Throws `bad_request` and
   * `service_unavailable`.
   */
  make(options: z.infer<typeof namespaceOptions>): Promise<NamespaceView>;
  list(): NamespaceView[];
  get(id: string): NamespaceView | undefined;
  /** Resolves to false if there is no such namespace. */
  remove(id: string): Promise<boolean>;
}

/** Parts of the emulator that the admin routes control and that do not belong to a world. */
export interface AdminControls {
  /** True if the published test keys are registered at the start. */
  readonly hasTestKeys: boolean;
  /** True if the published test keys cannot be registered later. */
  readonly refusesTestKeys: boolean;
  /**
   * Saves the state if there is a folder for it, and begins to close the emulator. Requests in progress still get their
   * response. Returns, or resolves to, false if the state could not be saved.
   */
  shutDown(): unknown;
  readonly namespaces: NamespaceControl;
  /** Returns the addresses of the organizations. */
  addresses(): AddressesView;
  /** Certificate that clients must trust, as PEM; undefined if HTTPS is not served. */
  readonly trust?: string | undefined;
  /** Aborted when the emulator begins to close. */
  readonly closing: AbortSignal;
}
