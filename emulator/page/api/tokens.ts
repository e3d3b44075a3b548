import type { MintedToken } from '@emulator/admin/tokens.js';
import { post } from './client.js';

/** Creates a token signed with a test key. `claims`: the body of `POST tokens`. */
export async function mintToken(claims: object): Promise<string> {
  return (await post<MintedToken>('tokens', claims)).token;
}
