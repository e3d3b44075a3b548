import t from 'tap';
import { type Variants, variantRows } from '../../config/variants.js';
import { startService } from '../service.js';
import { CODES } from './probes/codes.js';
import { CREDENTIALS } from './probes/credentials.js';
import type { Probe } from './probes/probe.js';
import { ANSWERS } from './probes/responses.js';

const PROBES: Readonly<Record<keyof Variants, Probe>> = { ...ANSWERS, ...CODES, ...CREDENTIALS };

for (const { name, values } of variantRows()) {
  const { look, seen } = PROBES[name as keyof Variants];
  t.same(Object.keys(seen).sort(), [...values].sort(), `${name}: every value has something to see`);
  for (const value of values) {
    t.test(`${name}: ${value}`, async (t) => {
      const service = await startService({ variants: { [name]: value } });
      t.teardown(() => service.emulator.close());
      await service.seed('team/app', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
      t.same(await look(service), seen[value]);
    });
  }
}
