/** HTTP status, in the colour of its class: `2xx` … `5xx`. 0 (no response) is shown as a dash. */
export function Status({ status }: { readonly status: number }) {
  return <span class={`status status-${String(status)[0]}xx`}>{status === 0 ? '–' : status}</span>;
}

/** Origin of a response: the service itself, a state that was set, or a fault. */
export function Origin({ origin }: { readonly origin: string }) {
  const [kind, fault] = origin.split(/:(.*)/s);
  return (
    <span class={`origin origin-${kind}`} title={origin}>
      {kind}
      {fault && <span class="quiet"> {fault}</span>}
    </span>
  );
}
