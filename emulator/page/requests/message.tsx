import { useMemo, useState } from 'preact/hooks';
import { Facts } from '../components/facts.js';
import { GivenBlock } from '../components/given.js';
import { ScrollBox } from '../components/scroll-box.js';
import { bytes as sizeOf } from '../components/time.js';
import { hexLines, readBody } from './body.js';
import type { Body, Message } from './entry.js';

/** Shows the headers of a request or response, and the part of its body that the journal contains. */
export function MessageView({ title, message }: { readonly title: string; readonly message: Message }) {
  const { headers, body, bytes } = message;
  return (
    <section>
      <h3>{title}</h3>
      {headers.length > 0 && <Facts class="headers" facts={headers.map(([name, value]) => [name, value, 'mono'])} />}
      {body ? (
        <BodyView body={body} bytes={bytes} />
      ) : (
        <p class="quiet">{bytes === 0 ? 'No body' : `Body not stored, ${sizeOf(bytes)}`}</p>
      )}
    </section>
  );
}

/** Number of bytes of a binary body that are shown at first. All bytes are shown after the user asks for them. */
const FIRST = 512;

function BodyView({ body, bytes }: { readonly body: Body; readonly bytes: number }) {
  const shown = useMemo(() => readBody(body), [body]);
  const [isRaw, setRaw] = useState(false);
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="body">
      <p class="body-head">
        <span class="quiet figures">
          {shown.kind === 'binary' ? `binary, ${sizeOf(bytes)}` : sizeOf(bytes)}
          {body.truncated && ' · truncated: the journal stores the first 64 KiB'}
        </span>
        {shown.kind === 'json' && (
          <button type="button" class="small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            Show as sent
          </button>
        )}
      </p>
      {shown.kind === 'binary' ? (
        <>
          <ScrollBox label="Bytes">
            <pre class="hex">{hexLines(isWhole ? shown.bytes : shown.bytes.subarray(0, FIRST))}</pre>
          </ScrollBox>
          {shown.bytes.length > FIRST && !isWhole && (
            <button type="button" class="small more" onClick={() => setWhole(true)}>
              Show all {sizeOf(shown.bytes.length)}
            </button>
          )}
        </>
      ) : (
        <GivenBlock text={isRaw ? body.text : shown.text} />
      )}
    </div>
  );
}
