import { z } from 'zod';

/**
 * Request body that creates a namespace (isolated world with its own state and ports). It contains options of `start`,
 * and the id of a snapshot to copy.
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
 * Response that describes a namespace. Besides its id, it has the members of the ready line (JSON that the emulator
 * prints when it can serve requests).
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
 * Namespaces (isolated worlds with their own state and ports) that were created from one world. The world with which
 * the emulator started controls all namespaces.
 */
export interface NamespaceControl {
  /**
   * Creates a namespace. It is empty unless the options name a snapshot of this world to copy. Throws `bad_request` and
   * `service_unavailable`.
   */
  make(options: z.infer<typeof namespaceOptions>): Promise<NamespaceView>;
  list(): NamespaceView[];
  get(id: string): NamespaceView | undefined;
  /** Removes the namespace with this id. Resolves to false if there is none. */
  remove(id: string): Promise<boolean>;
}

/**
 * Parts of the emulator that the admin routes control. They are not part of a world, so a reset does not replace them.
 */
export interface AdminControls {
  /** True if the published test keys are registered at the start. Their private keys are public. */
  readonly hasTestKeys: boolean;
  /**
   * True if the published test keys cannot be registered at all. Anybody can sign tokens with them, because their
   * private keys are public.
   */
  readonly refusesTestKeys: boolean;
  /**
   * Begins to close the emulator, and saves its state if a folder for the state is configured. Requests in progress
   * still get their response. Returns, or resolves to, false if the state could not be saved.
   */
  shutDown(): unknown;
  readonly namespaces: NamespaceControl;
  /** Returns the addresses at which the organizations are served. */
  addresses(): AddressesView;
  /**
   * Certificate, as PEM, of the emulator's own certificate authority. HTTPS clients must trust it. Undefined if the
   * emulator does not serve HTTPS.
   */
  readonly trust?: string | undefined;
  /** Signal that is aborted when the emulator begins to close. Event streams then end. */
  readonly closing: AbortSignal;
}
