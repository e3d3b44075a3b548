/**
 * Returns the value of an `Authorization` header with Basic credentials as Git sends them: the user name of the
 * documented remote URL (`t`), and the token as password.
 */
export function basic(token: string, user = 't'): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
}

/**
 * Returns the URL path of a repository on the Git host. A slash in the repository name stays a slash and is not
 * encoded.
 */
export function gitPath(repo: string): string {
  return `/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
}
