import { getFile } from '../../api/requests.js';
import { sampleContent, sampleFile } from '../../fixtures/content.js';
import { defineRules, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';

export const fileErrors = defineRules('8. Read a file', 'read-file-errors', [
  {
    id: 'file.err.404.file',
    says: 'A file that does not exist is 404.',
    check: on(sampleContent, async (t, { name }) => {
      const answer = await getFile(t, name, { path: t.uniqueName() });
      t.tolerate('A28', 'missing file', answer, ['404 not_found', '404 ref_not_found']);
    }),
  },
  {
    id: 'file.err.404.ref',
    says: 'A ref that does not exist is 404.',
    check: on(sampleFile, async (t, { name, path }) => {
      const answer = await getFile(t, name, { path, ref: t.uniqueName() });
      t.tolerate('A28', 'missing ref, file', answer, ['404 ref_not_found', '404 not_found', '404 branch_not_found']);
    }),
  },
  ...tokenRules('file', {
    noHeader: 'file.err.401.no-header',
    invalid: 'file.err.401.invalid-jwt',
    scope: 'file.err.scope',
    missingRepo: 'file.err.404.repo',
  }),
]);
