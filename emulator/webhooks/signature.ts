import { createHmac } from 'node:crypto';

/**
 * The value of the signature header:
 *
 *     t=<unix seconds>,sha256=<hex>
 *
 * The digest is HMAC-SHA256 of `<t>.<body>` with the secret's UTF-8 bytes as key.
 */
export function signatureOf(secret: string, seconds: number, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},sha256=${digest}`;
}
