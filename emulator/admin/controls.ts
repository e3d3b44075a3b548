import { z } from 'zod';

/**
 * Options of a new namespace (isolated world with its own state and ports): options of `start`, and the id of the
 * snapshot to copy.
 */
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

/**
 * Response about a namespace: its id, and the members of the ready line (JSON that the emulator prints when it can
 * serve requests).
 */
export const namespaceRecord = organizationAddress.extend({
  id: z.string(),
  orgs: z.array(organizationAddress),
  key_id: z.string().nullable(),
  key_file: z.string().nullable(),
  admin_url: z.string(),
  pid: z.int(),
});

/** Body of the response to `GET /_emulator/addresses`. */
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

/**
 * Namespaces (isolated worlds with their own state and ports) that were created from one world. For the world with
 * which the emulator started: all namespaces.
 */
export interface NamespaceControl {
  /**
   * Creates a namespace: empty, or from a snapshot of this world if the options name one. Throws `bad_request` and
   * `service_unavailable`.
   */
  make(options: z.infer<typeof namespaceOptions>): Promise<NamespaceView>;
  list(): NamespaceView[];
  get(id: string): NamespaceView | undefined;
  /** Removes the namespace. Resolves to false if no namespace has the id. */
  remove(id: string): Promise<boolean>;
}

/**
 * Parts of the emulator that the admin routes control and that do not belong to a world (state of the emulator that a
 * reset replaces).
 */
export interface AdminControls {
  /** True if the published test keys, whose private keys are public, are registered at the start. */
  readonly hasTestKeys: boolean;
  /** True if the published test keys cannot be registered later either, because anybody can sign tokens with them. */
  readonly refusesTestKeys: boolean;
  /**
   * Saves the state if the emulator has a folder for it, and begins to close the emulator. Requests in progress still
   * get their response. Returns, or resolves to, false if the state could not be saved.
   */
  shutDown(): unknown;
  readonly namespaces: NamespaceControl;
  /** Returns the addresses at which the organizations are served. */
  addresses(): AddressesView;
  /**
   * Certificate of the emulator's own authority, which HTTPS clients must trust, as PEM; undefined if HTTPS is not
   * served.
   */
  readonly trust?: string | undefined;
  /** Signal that is aborted when the emulator begins to close, to end event streams. */
  readonly closing: AbortSignal;
}
