/** Why an upstream could not be read. The message is text, holds no credential and is shown to clients. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    message: string,
    /** The HTTP status it answered with, if that was the trouble. */
    readonly status?: number,
    /** Whether the same request may succeed a moment later. */
    readonly isTransient = false,
  ) {
    super(message);
  }
}
