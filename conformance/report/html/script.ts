/**
 * JavaScript of all HTML pages. It filters and searches rules, opens the rule that the URL fragment names, and opens
 * all rules before printing.
 */
export const SCRIPT = `
(() => {
  const rules = [...document.querySelectorAll('.rule')].map((node) => ({ node, text: node.textContent.toLowerCase() }));
  const sections = [...document.querySelectorAll('section[data-section]')];
  const buttons = [...document.querySelectorAll('button[data-filter]')];
  const search = document.querySelector('input[type=search]');
  const shown = document.querySelector('#shown');
  const chosen = (filter) => buttons
    .filter((one) => one.dataset.filter === filter && one.getAttribute('aria-pressed') === 'true')
    .map((one) => one.dataset.value);
  const apply = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
    const [verdicts, levels] = [chosen('verdict'), chosen('level')];
    let count = 0;
    for (const { node, text } of rules) {
      const isShown = (verdicts.length === 0 || verdicts.includes(node.dataset.verdict))
        && (levels.length === 0 || levels.includes(node.dataset.level))
        && words.every((word) => text.includes(word));
      node.hidden = !isShown;
      if (isShown) count += 1;
    }
    for (const section of sections) section.hidden = section.querySelector('.rule:not([hidden])') === null;
    shown.textContent = count + ' of ' + rules.length + ' shown';
  };
  const open = () => {
    const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (node === null || !node.classList.contains('rule')) return;
    node.hidden = false;
    node.closest('section').hidden = false;
    node.open = true;
    node.querySelector('summary').focus();
    node.scrollIntoView();
  };
  if (search !== null) {
    for (const button of buttons) {
      button.addEventListener('click', () => {
        button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
        apply();
      });
    }
    search.addEventListener('input', apply);
    document.querySelector('#reset').addEventListener('click', () => {
      for (const button of buttons) button.setAttribute('aria-pressed', 'false');
      search.value = '';
      apply();
      search.focus();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      search.focus();
    });
    document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());
    apply();
  }
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = rules.filter(({ node }) => !node.open);
    for (const { node } of closed) node.open = true;
  });
  addEventListener('afterprint', () => {
    for (const { node } of closed) node.open = false;
  });
  addEventListener('hashchange', open);
  open();
})();
`;
