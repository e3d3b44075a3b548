import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/*
 * `prepare`, which npm runs after an install, and before the first `npx emulator` in a checkout as well: there it would
 * build once more what an install has built, for some eight seconds in which nothing is said. Not TypeScript, because
 * nothing is compiled yet.
 */
const isForCommand = process.env.npm_command === 'exec';
if (!isForCommand || !existsSync('dist/bundle/THIRD-PARTY.txt')) execSync('npm run build', { stdio: 'inherit' });
