export const STYLE = `
:root {
	color-scheme: light dark;
	--back: #f4f5f7; --card: #ffffff; --line: #e1e4e8; --text: #1c2127; --dim: #68717d;
	--accent: #0f766e; --on-accent: #ffffff; --code: #f1f3f5;
	--good: #0b6b3a; --good-back: #dcf5e6; --open: #7a5200; --open-back: #fdf0cf;
	--bad: #9b1c1c; --bad-back: #fde4e4; --plain: #475061; --plain-back: #e9ecf1;
}
@media (prefers-color-scheme: dark) {
	:root {
		--back: #14171b; --card: #1d2126; --line: #30363d; --text: #e8eaed; --dim: #99a2ad;
		--accent: #2dd4bf; --on-accent: #06201d; --code: #272c33;
		--good: #6ee7a8; --good-back: #123524; --open: #fcd575; --open-back: #3a2e0d;
		--bad: #fca5a5; --bad-back: #431a1a; --plain: #b6c0cd; --plain-back: #2c323a;
	}
}
* { box-sizing: border-box; }
body {
	margin: 0; background: var(--back); color: var(--text);
	font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
.page { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 15px; margin: 0 0 12px; }
.top { display: flex; align-items: baseline; gap: 14px; flex-wrap: wrap; margin-bottom: 22px; }
.top p { margin: 0; color: var(--dim); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 20px; align-items: start; }
@media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
.columns > * { display: grid; gap: 16px; min-width: 0; grid-template-columns: minmax(0, 1fr); }
#transactions { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px; margin: 0; }
.empty, .dim, .hint, .meta { color: var(--dim); }
.hint { margin: 0 0 12px; font-size: 13px; }
.empty { margin: 0; }
.row.empty, section .empty { font-size: 13px; }
code {
	font: 12.5px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
	background: var(--code); border-radius: 5px; padding: 2px 6px; overflow-wrap: anywhere;
}
.pairs { margin: 0; display: grid; gap: 10px; }
.pairs dt { color: var(--dim); font-size: 12px; }
.pairs dd { margin: 0; display: flex; gap: 8px; align-items: center; justify-content: space-between; }
button, select, input {
	font: inherit; font-size: 14px; color: var(--text); background: var(--card);
	border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; min-height: 36px;
}
button { cursor: pointer; font-weight: 550; }
button:hover { border-color: var(--accent); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.small { font-size: 12px; padding: 2px 9px; min-height: 26px; flex: none; }
button:disabled { opacity: 0.55; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
form { display: grid; grid-template-columns: 1fr auto; gap: 8px; }
form input { grid-column: 1 / -1; width: 100%; }
.result { margin: 10px 0 0; font-size: 13px; color: var(--dim); overflow-wrap: anywhere; }
.result:empty { display: none; }
.badge {
	display: inline-block; border-radius: 99px; padding: 1px 9px; font-size: 12px; font-weight: 600;
	white-space: nowrap; color: var(--plain); background: var(--plain-back);
}
.badge.good { color: var(--good); background: var(--good-back); }
.badge.open { color: var(--open); background: var(--open-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.transaction { display: flex; gap: 18px; }
.transaction .body {
	flex: 1; min-width: 0; display: grid; gap: 8px; align-content: start;
	grid-template-columns: minmax(0, 1fr);
}
.transaction p { margin: 0; }
.transaction header { display: flex; justify-content: space-between; align-items: center; gap: 10px; }
.who { display: flex; align-items: baseline; gap: 10px; flex-wrap: wrap; }
.amount { font-size: 19px; letter-spacing: -0.01em; }
.qr { width: 148px; height: 148px; flex: none; border-radius: 8px; background: #fff; border: 1px solid var(--line); }
.qr.none {
	display: grid; place-items: center; color: var(--dim); background: var(--code); font-size: 13px;
}
.meta { font-size: 13px; display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.copy { display: flex; gap: 8px; align-items: center; }
.copy code { flex: 0 1 auto; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; overflow-wrap: normal; min-width: 0; }
.deliveries { list-style: none; margin: 0; padding: 0; display: grid; gap: 4px; font-size: 13px; color: var(--dim); }
.deliveries li { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.actions { display: flex; gap: 8px; flex-wrap: wrap; margin-top: 4px; }
.row {
	display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; font-size: 13px;
	padding: 7px 0; border-top: 1px solid var(--line);
}
.row:first-child { border-top: 0; padding-top: 0; }
.request { flex-wrap: nowrap; }
.request .path { flex: 1; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; overflow-wrap: normal; }
@media (max-width: 620px) { .transaction { flex-direction: column; } }
`;
