import type { OrganizationAddress } from '../server/address.js';
import type { EnvironmentOptions, RemoteOptions } from './access.js';
import type { TokenOptions } from './token.js';
import type { ExportOptions, Imported, ImportOptions, ImportSource } from './transfer.js';

/**
 * Members that are the same for an emulator in this process and for one in another process. `orgs` contains the
 * addresses of all organizations. The addresses directly in this object belong to the first organization.
 */
export interface EmulatorHandle extends OrganizationAddress {
  readonly orgs: readonly OrganizationAddress[];
  /** Id of the signing key in the file `keyFile`; empty if the first organization has no key. */
  readonly keyId: string;
  /**
   * Absolute path of the private key (PKCS#8 PEM) that signs access tokens for the first organization. The file
   * contains a published test key. If test keys are disabled, it is the file of the option `key`.
   */
  readonly keyFile: string;
  /** Certificate (PEM) that HTTPS clients of the emulator must trust. Absent if the option `tls` was not given. */
  readonly ca?: string;
  /** URL of the admin API, which controls the emulator over HTTP: `<baseUrl>/_emulator`. */
  readonly adminUrl: string;
  /**
   * Signs an access token for a client. The token is issued at the time of the emulator's clock. Rejects with an
   * `Error` that names the invalid option.
   *
   * Each fault (deliberate failure) in `faults` applies to every request that carries the token. In this way, faults
   * also reach clients that cannot set a request header, such as git.
   *
   * ```js
   * const token = await emulator.token({ repo: 'team/app', faults: ['rate_limited*2'] });
   * const headers = { authorization: `Bearer ${token}` };
   * ```
   */
  token(options?: TokenOptions): Promise<string>;
  /**
   * Returns the URL of the Git remote of a repository, with a token for it. The repository need not exist. The address
   * is the one at which the emulator itself listens, even if a reverse proxy is in front of it. Rejects with an `Error`
   * that names the invalid option.
   *
   * The options are those of `token`, without `repo`. A fault (deliberate failure) in `faults` applies to every request
   * to the remote.
   *
   * ```js
   * const remote = await emulator.remote('team/app', { scopes: ['git:read'], faults: ['cut*1@git.pack;fraction=0.5'] });
   * ```
   */
  remote(repo: string, options?: RemoteOptions): Promise<string>;
  /**
   * Returns the environment variables that `emulator exec` sets for its program, such as `EMULATOR_URL`. They describe
   * the first organization. `EMULATOR_TOKEN` is valid for the repository `repo`, by default `team/app`. It is empty if
   * the emulator has no signing key. Its default scopes are `repo:write`, `git:write`, `git:read` and `org:read`, as far
   * as the signing key allows them.
   *
   * With the option `tls`, the variables contain the HTTPS addresses, but name no file with the certificate. Save `ca`
   * to a file for clients that use these addresses.
   *
   * ```js
   * const env = { ...process.env, ...(await emulator.env({ repo: 'team/app' })) };
   * ```
   */
  env(options?: EnvironmentOptions): Promise<Record<string, string>>;
  /**
   * Returns an export of the whole state as a tar archive. `import`, `emulator import` and the option `import` of
   * `startEmulator` read it. An export contains no journal and no namespaces. It contains no secrets, unless the option
   * `includeSecrets` is true.
   *
   * ```js
   * const state = await emulator.export();
   * // … a test …
   * await emulator.import(state);
   * ```
   */
  export(options?: ExportOptions): Promise<Uint8Array>;
  /**
   * Imports an export in place of the whole state, or one repository from another source. A repository that exists is
   * updated like by a push without force. The options select the name and the organization of one repository.
   *
   * The source is checked completely before anything changes. Rejects with an `Error` that states the reason.
   *
   * ```js
   * const { content, repositories } = await emulator.import(await emulator.export());
   * ```
   */
  import(source: ImportSource, options?: ImportOptions): Promise<Imported>;
  /**
   * Takes a snapshot of the whole world. Resolves to the id of the snapshot, which `restore` accepts. Rejects if 1,000
   * snapshots already exist.
   *
   * A snapshot contains the repositories with their refs, objects, notes, deployments, credentials, LFS objects and
   * locks. It also contains webhooks and their deliveries, the journal, the clock, and the counters of ids and faults.
   * Its data counts towards the limit `maxHeldBytes` until the emulator is closed.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * // … a test …
   * await emulator.restore(seeded);
   * ```
   */
  snapshot(): Promise<string>;
  /**
   * Restores the state of the world that `snapshot` saved under this id. A snapshot can be restored any number of
   * times. Rejects with an `Error` if the snapshot does not exist.
   *
   * Requests that are repeated after a restore get identical responses, unless the clock has the mode `real`. Requests
   * in progress during the restore finish in the old state: reads succeed, and writes get 503 `service_unavailable`.
   * Running syncs are canceled.
   *
   * ```js
   * afterEach(() => emulator.restore(seeded));
   * ```
   */
  restore(id: string): Promise<void>;
  /**
   * Restores the state that the emulator had before its first request. Requests in progress are treated as by
   * `restore`. Snapshots are kept.
   *
   * ```js
   * afterEach(() => emulator.reset());
   * ```
   */
  reset(): Promise<void>;
}
