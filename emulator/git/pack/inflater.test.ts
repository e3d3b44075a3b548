import { deflateSync } from 'node:zlib';
import t from 'tap';
import { HEADROOM } from '../object/object-hash.js';
import { createInflater, HandleInflater, InflateError, PlainInflater } from './inflater.js';

const REST = Buffer.from('what follows the stream');

t.test('this Node has the internal handle that the fast inflater needs', async (t) => {
  t.ok(createInflater() instanceof HandleInflater);
});

for (const Inflater of [HandleInflater, PlainInflater]) {
  t.test(`${Inflater.name} inflates streams of every size and tells where they end`, async (t) => {
    const inflater = new Inflater();
    for (const size of [0, 1, 500, 65_536, 70_000, 3_000_000, 10]) {
      const body = Buffer.from(Array.from({ length: size / 4 }, (_, at) => Math.imul(at, 2_654_435_761)));
      const stream = deflateSync(body);
      const input = Buffer.concat([stream, REST]);
      for (const piece of [input.length, 40_000]) {
        inflater.start(body.length);
        let at = 0;
        while (!inflater.isDone && at < input.length)
          at += inflater.feed(input, at, Math.min(at + piece, input.length));
        if (!inflater.isDone) at += inflater.feed(input, 0, 0);
        t.equal(at, stream.length, `${size} in pieces of ${piece}`);
        t.ok(inflater.output.subarray(HEADROOM, HEADROOM + inflater.size).equals(body));
      }
    }
  });

  t.test(`${Inflater.name} refuses what is wrong, and works on afterwards`, async (t) => {
    const inflater = new Inflater();
    const feed = (declared: number, input: Buffer) => {
      inflater.start(declared);
      inflater.feed(input, 0, input.length);
      return inflater.isDone;
    };
    const good = Buffer.concat([deflateSync('a body'), REST]);
    const bad = Buffer.from(good);
    bad[good.length - REST.length - 1]! ^= 1;
    t.throws(() => feed(6, Buffer.from('no zlib stream')), InflateError);
    t.throws(() => feed(5, good), new InflateError('serious inflate inconsistency'));
    t.throws(() => feed(6, bad), /incorrect data check/);
    t.notOk(feed(6, good.subarray(0, 8)), 'a stream cut short is not done');
    t.ok(feed(6, good));
  });

  t.test(`${Inflater.name} takes no memory on the word of a header`, async (t) => {
    const inflater = new Inflater();
    inflater.start(200_000_000);
    inflater.feed(deflateSync('little'), 0, 5);
    t.ok(inflater.output.length < 1_000_000);
  });
}
