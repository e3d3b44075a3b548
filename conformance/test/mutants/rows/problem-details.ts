import { type Mutant, proxied } from '../mutant.js';
import { API } from '../places.js';
import { setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'problem-writes-the-status-as-text',
    'problem.status.integer',
    'writes the status as text',
    setsMember(API, 'status', '404', 404),
  ),
  proxied('problem-numbers-its-types', 'problem.type.string', 'numbers its types', setsMember(API, 'type', 7, 404)),
  proxied(
    'problem-leaves-the-title-out',
    'problem.title.string',
    'leaves the title out',
    setsMember(API, 'title', undefined, 404),
  ),
  proxied(
    'problem-has-nothing-to-say-in-detail',
    'problem.detail.string',
    'has nothing to say in detail',
    setsMember(API, 'detail', '', 404),
  ),
  proxied(
    'problem-says-something-else-in-error',
    'problem.error.mirrors-detail',
    'says something else in error',
    setsMember(API, 'error', 'Oh no.', 404),
  ),
  proxied(
    'problem-counts-instances',
    'problem.instance.string',
    'counts instances',
    setsMember(API, 'instance', 7, 404),
  ),
  proxied(
    'problem-leaves-the-code-out',
    'problem.code.present',
    'leaves the code out',
    setsMember(API, 'code', undefined, 404),
  ),
  proxied(
    'problem-writes-the-code-with-hyphens',
    'problem.code.snake-case',
    'writes the code with hyphens',
    setsMember(API, 'code', 'repository-not-found', 404),
  ),
];
