/**
 * HTTP status code, in the colour of its class (`2xx` … `5xx`). The status 0 means that no response was sent; it is
 * shown as a dash.
 */
export function Status({ status }: { readonly status: number }) {
  return <span class={`status status-${String(status)[0]}xx`}>{status === 0 ? '–' : status}</span>;
}

/**
 * Label with the origin (cause) of a response:
 *
 * - `real`: normal behaviour of the service
 * - `state`: a state that the user set
 * - `injected:ID`: the fault with this id
 */
export function Origin({ origin }: { readonly origin: string }) {
  const [kind, fault] = origin.split(/:(.*)/s);
  return (
    <span class={`origin origin-${kind}`} title={origin}>
      {kind}
      {fault && <span class="quiet"> {fault}</span>}
    </span>
  );
}
