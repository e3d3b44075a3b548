import type { JsonForm } from '../operation/operation.js';

/**
 * git-lfs, docs/api/batch.md: "All Batch API requests use the POST verb, and require the following HTTP headers. The
 * request and response bodies are JSON.
 *
 *     Accept: application/vnd.git-lfs+json
 *     Content-Type: application/vnd.git-lfs+json"
 *
 * and "422 - Validation error with one or more of the objects in the request."
 */
export const LFS_JSON: JsonForm = { mediaType: 'application/vnd.git-lfs+json', invalid: 'unprocessable_entity' };

export const LFS_HEADERS = { 'content-type': LFS_JSON.mediaType };
