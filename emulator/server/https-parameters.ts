import type https from 'node:https';
import type { Identity } from '../tls/authority.js';
import type { RenewedIdentity } from '../tls/renewal.js';
import type { InvalidCertificate } from '../tls/tls-service.js';

/**
 * Parameters of an HTTPS server. `createServer` comes from `node:https`, which is loaded only if HTTPS is served.
 */
export interface HttpsParameters {
  readonly createServer: typeof https.createServer;
  readonly identity: Identity;
  /** Source of renewed certificates, which replace `identity`; undefined if certificates are not renewed. */
  readonly renewal?: RenewedIdentity | undefined;
  /** Returns a certificate that clients must refuse, for faults: it has expired, or it is for another host. */
  readonly invalidIdentity: (how: InvalidCertificate) => Promise<Identity>;
}
