import { flag, integer, OptionError, publicUrl, type Read, type Row, readGivenFile, text } from './option-values.js';

/** Start options for TLS, and for the public URLs of an emulator behind a proxy. */
export interface TlsOptions {
  /** True to serve HTTPS in addition to HTTP, on separate ports. */
  readonly tls: boolean;
  /** HTTPS port of the first organization; 0 to use any free port. */
  readonly tlsPort: number;
  /**
   * Paths of two PEM files: a certificate with its chain, and its private key. If both are undefined, a certificate is
   * generated.
   */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** URL of the first organization in responses, instead of its own address. It has no final slash. */
  readonly publicUrl: string | undefined;
  /** URL of Git remotes in responses. Needed only if it differs from `publicUrl`. */
  readonly publicGitUrl: string | undefined;
}

export const TLS_ROWS: { readonly [Name in keyof TlsOptions]: Row<TlsOptions[Name]> } = {
  tls: {
    default: false,
    help: 'Serve HTTPS in addition to HTTP, on separate ports; `emulator ca` prints the certificate to trust.',
    read: flag,
  },
  tlsPort: {
    default: 0,
    value: 'PORT',
    help: 'HTTPS port of the first organization; 0: any free port.',
    read: integer(0, 65_535),
  },
  tlsCert: {
    value: 'FILE',
    help: 'PEM file with the certificate for --tls, followed by its chain; default: a generated certificate that is valid for a day.',
    read: pemFile('certificate', /-----BEGIN CERTIFICATE-----/),
  },
  tlsKey: {
    value: 'FILE',
    help: 'PEM file with the private key of the certificate in --tls-cert.',
    read: pemFile('private key', /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/),
  },
  publicUrl: {
    value: 'URL',
    help: 'Address of the first organization that responses contain, if clients use a port mapping or a TLS proxy.',
    read: publicUrl,
  },
  publicGitUrl: {
    value: 'URL',
    help: 'Address of the Git remotes that responses contain, if it differs from --public-url.',
    read: publicUrl,
  },
};

/**
 * Returns a reader for the path of a PEM file (RFC 7468). The file must contain an entry with a label that matches
 * `label`.
 */
function pemFile(what: string, label: RegExp): Read<string> {
  return (given) => {
    const file = text('the name of a file')(given);
    if (!label.test(readGivenFile(file)))
      throw new OptionError(`must name a file with a ${what} in PEM, but ${JSON.stringify(file)} contains none`);
    return file;
  };
}

/** Throws `OptionError` if TLS options contradict each other, or if one requires another that is missing. */
export function checkTlsOptions({ tls, tlsPort, tlsCert, tlsKey }: TlsOptions): void {
  const [given, missing] = tlsCert === undefined ? ['key', 'cert'] : ['cert', 'key'];
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new OptionError(`--tls-${given} requires --tls-${missing}.`);
  }
  if (tls) return;
  if (tlsCert !== undefined) throw new OptionError('--tls-cert and --tls-key require --tls.');
  if (tlsPort !== 0) throw new OptionError('--tls-port requires --tls.');
}
