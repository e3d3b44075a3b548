import { Given } from '../components/given.js';

/** Name of a client: the subject (claim `sub`) of its token. null stands for clients without a token. */
export function ClientName({ subject }: { readonly subject: string | null }) {
  return subject === null ? <span class="quiet">no token</span> : <Given text={subject} most={60} />;
}
