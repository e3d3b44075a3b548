import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/*
 * Script `prepare`, which npm runs after an install, and in a checkout also before the first `npx emulator`. In the
 * second case it would repeat the build of the install, which takes about eight seconds without any output. It is not
 * TypeScript, because nothing is compiled at that time.
 */
const isForCommand = process.env.npm_command === 'exec';
if (!isForCommand || !existsSync('dist/bundle/THIRD-PARTY.txt')) execSync('npm run build', { stdio: 'inherit' });
