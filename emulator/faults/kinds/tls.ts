import { choice } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

/**
 * Failure of a TLS handshake. `expired` and `wrong-host` serve a certificate that has expired, or that is for another
 * host. `reset` resets the connection after the first message of the client.
 */
export interface Tls {
  readonly how: 'expired' | 'wrong-host' | 'reset';
}

export const tls: Kind<Tls> = {
  about: 'lets the TLS handshake of an HTTPS connection fail (`emulator start --tls`)',
  stages: ['accept'],
  defaults: DEFAULTS.accept,
  keys: {
    how: {
      about: 'expired: serves an expired certificate, wrong-host: one for another host, reset: resets the connection',
      ...choice(['expired', 'wrong-host', 'reset']),
    },
  },
  needs: ['how'],
  position: 'handshake',
  endsStage: () => true,
};
