import t from 'tap';
import { CONTROL_SERVERS, complaintsAbout } from './mutants/controls.js';

for (const server of CONTROL_SERVERS) {
  t.test(`a server that ${server.does} gets ${server.exitCode}, and is told of`, async (t) => {
    t.same(await complaintsAbout(server), []);
  });
}
