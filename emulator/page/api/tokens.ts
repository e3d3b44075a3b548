import type { MintedToken } from '@emulator/admin/tokens.js';
import { post } from './client.js';

/** Signs a token with a test key; `claims` are the members of `POST tokens`. */
export async function mintToken(claims: object): Promise<string> {
  return (await post<MintedToken>('tokens', claims)).token;
}
