/** An HTTP status, in the colour of its class: `2xx` … `5xx`. */
export function Status({ status }: { readonly status: number }) {
  return <span class={`status status-${String(status)[0]}xx`}>{status === 0 ? '–' : status}</span>;
}

/** Where an answer came from: the service as it is, a state that was set, or a fault. */
export function Origin({ origin }: { readonly origin: string }) {
  const [kind, fault] = origin.split(/:(.*)/s);
  return (
    <span class={`origin origin-${kind}`} title={origin}>
      {kind}
      {fault && <span class="quiet"> {fault}</span>}
    </span>
  );
}
