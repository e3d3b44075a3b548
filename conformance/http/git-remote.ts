/**
 * Returns an `Authorization` header value with Basic credentials, as Git sends it. The user name is that of the
 * documented remote URL (`t`); the password is the token.
 */
export function basic(token: string, user = 't'): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
}

/** Returns the URL path of a repository on the Git host. Slashes in the repository name are not encoded. */
export function gitPath(repo: string): string {
  return `/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
}
