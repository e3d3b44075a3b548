/** Basic credentials as Git sends them: the user name of the documented remote, the token as password. */
export function basic(token: string, user = 't'): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
}

/** The path of a repository on the Git host. A slash in the name stays a slash. */
export function gitPath(repo: string): string {
  return `/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
}
