import { readFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { isIP } from 'node:net';

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Timeout in milliseconds of a TLS handshake with a server that may not support TLS. */
const HANDSHAKE = 2_000;

/**
 * Environment variables that name files of trusted certificates. Node itself reads the file in `NODE_EXTRA_CA_CERTS`,
 * but ignores it for requests with the option `ca`.
 */
const TRUSTED_FILES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const;

/** Explanations of certificate errors. The patterns match error codes of OpenSSL and Node. */
const CERTIFICATE_COMPLAINTS: readonly (readonly [codes: RegExp, complaint: string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for other host names'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER_CERT|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/,
    'its certificate is not trusted; save the output of `emulator ca --url` with its http address to a file, and name ' +
      'the file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE',
  ],
];

/**
 * Opens a request to an http or https address and resolves to its response. `send` gets the request and must end it.
 * Trusts Node's certificates and those in the files that environment variables name.
 */
export async function ask(
  url: URL,
  environment: Environment,
  options: RequestOptions,
  send: (question: ClientRequest) => void,
): Promise<IncomingMessage> {
  const open = url.protocol === 'https:' ? await secureRequest(url, environment) : plainRequest;
  return new Promise((resolve, reject) => {
    const question = open(url, options, resolve).on('error', reject);
    // Handles `close` too. After an unexpected response such as 101, the request emits no other event.
    question.on('close', () => reject(new Error('the connection was closed without a response')));
    send(question);
  });
}

type Open = (url: URL, options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest;

const plainRequest: Open = (url, options, onResponse) => request(url, { ...options, agent: false }, onResponse);

/**
 * Returns a function that opens an https request. Uses the global agent of this process, so that users can select a
 * proxy with `NODE_OPTIONS` or `NODE_USE_ENV_PROXY`.
 */
async function secureRequest({ hostname }: URL, environment: Environment): Promise<Open> {
  const { request: requestSecurely } = await import('node:https');
  const ca = await trusted(environment);
  // Verifies the certificate for the host in the URL. Node would use the Host header, which may name a namespace.
  const servername = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : '';
  return (url, options, onResponse) => {
    const headers = { ...options.headers, connection: 'close' };
    return requestSecurely(url, { ...options, headers, servername, ...(ca && { ca }) }, onResponse);
  };
}

/**
 * Returns the certificates to trust: Node's, and those in the files that the environment names. Returns undefined if no
 * file can be read; Node's defaults then apply.
 */
async function trusted(environment: Environment): Promise<string[] | undefined> {
  const files = [...new Set(TRUSTED_FILES.map((name) => environment[name]).filter((file) => file))] as string[];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const given = texts.filter((text) => text.includes('-----BEGIN '));
  if (given.length === 0) return undefined;
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, ...given];
}

/** Explains why a request got no response, for example because the server does not use https. */
export async function complaintOf(url: URL, error: unknown): Promise<string> {
  const { message, code = '' } = error as NodeJS.ErrnoException;
  if (url.protocol === 'https:') {
    if (
      /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version number|packet length too long/.test(code + message)
    ) {
      return `the port does not serve HTTPS; use an address that begins with http://`;
    }
    const [, complaint] = CERTIFICATE_COMPLAINTS.find(([codes]) => codes.test(code)) ?? [];
    if (complaint !== undefined) return complaint;
  } else if (
    !/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ABORT_ERR|E(?:HOST|NET)UNREACH)$/.test(code) &&
    (await speaksTls(url))
  ) {
    return 'the port serves HTTPS; use an address that begins with https://';
  }
  return message || code || 'the connection failed';
}

/** Returns true if a server completes a TLS handshake within `HANDSHAKE` milliseconds. */
async function speaksTls({ hostname, port }: URL): Promise<boolean> {
  const { connect } = await import('node:tls');
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    // Accepts any certificate, because no data is sent over this connection.
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false, timeout: HANDSHAKE });
    const end = (isSpoken: boolean) => {
      socket.destroy();
      resolve(isSpoken);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false)).once('close', () => end(false));
    socket.on('error', () => end(false));
  });
}
