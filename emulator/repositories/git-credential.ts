/** What an upstream asks for. A repository has at most one. */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /** Leaves the process in an `Authorization` header to the upstream, and in no other way. */
  readonly password: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
