import type { Mutant } from '../mutant.js';

export const rows: readonly Mutant[] = [];
