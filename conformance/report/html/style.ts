/** CSS of all HTML pages. Colours follow the reader's preference for light or dark. Printed pages show all content. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --quiet: #57606a; --line: #d0d7de; --box: #f6f8fa; --link: #0550ae;
  --good: #116329; --bad: #b31d28; --note: #7d4e00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --text: #e6edf3; --quiet: #9da7b3; --line: #3d444d; --box: #161b22; --link: #79c0ff;
    --good: #56d364; --bad: #ff938a; --note: #e3b341;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 1.6rem 0 .4rem; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { margin: .3rem 0; padding: .5rem .7rem; background: var(--box); border: 1px solid var(--line); border-radius: 4px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; } .skip:focus { position: static; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
fieldset { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; padding: .3rem .6rem; }
button, input { font: inherit; color: inherit; background: var(--box); border: 1px solid var(--quiet);
  border-radius: 4px; padding: .15rem .6rem; margin: .15rem; }
button[aria-pressed="true"] { background: var(--link); color: var(--page); border-color: var(--link); }
input[type="search"] { width: min(30rem, 90%); }
.quiet { color: var(--quiet); }
.marks { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.rule { border-bottom: 1px solid var(--line); padding: .25rem 0; }
.rule > summary { cursor: pointer; overflow-wrap: anywhere; }
.rule > div { padding: .2rem 0 .6rem 1.4rem; }
.tag { border: 1px solid currentColor; border-radius: 4px; padding: 0 .3rem; font-size: .8rem; }
.pass { color: var(--good); } .fail, .error, .flaky { color: var(--bad); }
.warn, .variant, .blocked { color: var(--note); } .observed, .skip-verdict { color: var(--quiet); }
[hidden] { display: none; }
@media print {
  :root { --page: #ffffff; --text: #000000; --quiet: #333333; --line: #999999; --box: #ffffff; --link: #000000;
    --good: #000000; --bad: #000000; --note: #000000; }
  body { max-width: none; padding: 0; font-size: .8rem; }
  .skip, .controls, nav { display: none; }
  section[hidden], .rule[hidden] { display: block; }
  .rule::details-content { content-visibility: visible; display: block; block-size: auto; }
  pre, summary { break-inside: avoid-page; }
}
`;
