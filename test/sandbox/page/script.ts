/**
 * Refreshes the lists from the server's own rendering, child by child: a child that did not
 * change, or in which somebody is choosing or typing, stays as it is.
 */
export const SCRIPT = `
const REFRESH_MS = 2000;
const rendered = new WeakMap();

function refreshList(list, fresh) {
	const keep = new Set();
	let before = list.firstElementChild;
	for (const child of [...fresh.children]) {
		const known = document.getElementById(child.id);
		const text = child.outerHTML;
		const stale = !known || (rendered.get(known) ?? known.outerHTML) !== text;
		const shown = known && (!stale || isBusy(known)) ? known : child;
		if (known && shown === child) {
			for (const select of known.querySelectorAll('select')) {
				const next = child.querySelector('#' + CSS.escape(select.id));
				if (next) next.value = select.value;
			}
			if (before === known) before = child;
			known.replaceWith(child);
		}
		if (shown === child || !stale) rendered.set(shown, text);
		keep.add(shown);
		if (shown === before) before = before.nextElementSibling;
		else list.insertBefore(shown, before);
	}
	for (const child of [...list.children]) if (!keep.has(child)) child.remove();
}

function isBusy(element) {
	const active = document.activeElement;
	return element.contains(active) && active.tagName !== 'BUTTON';
}

async function refresh() {
	try {
		const answer = await fetch('/');
		const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
		for (const list of document.querySelectorAll('[data-live]')) {
			const next = fresh.getElementById(list.id);
			if (next) refreshList(list, next);
		}
		document.body.dataset.offline = '';
	} catch {
		document.body.dataset.offline = 'yes';
	}
}

async function post(path, body) {
	const answer = await fetch(path, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body ?? {}),
	});
	return await answer.json();
}

async function act(button, work) {
	button.disabled = true;
	try { await work(); } finally { button.disabled = false; }
	await refresh();
}

document.addEventListener('click', (event) => {
	const button = event.target.closest('button');
	if (!button) return;
	const { copy, pay, setStatus } = button.dataset;
	if (copy !== undefined) {
		navigator.clipboard.writeText(copy).then(() => {
			button.textContent = 'Copied';
			setTimeout(() => { button.textContent = 'Copy'; }, 1200);
		});
	}
	if (pay) act(button, () => post('/sandbox/transactions/' + encodeURIComponent(pay) + '/pay'));
	if (setStatus) {
		const status = document.getElementById('status-of-' + setStatus).value;
		act(button, () => post('/sandbox/transactions/' + encodeURIComponent(setStatus) + '/status', { status }));
	}
	if (button.dataset.reset !== undefined) act(button, () => post('/sandbox/reset'));
});

document.getElementById('test-notice').addEventListener('submit', (event) => {
	event.preventDefault();
	const form = event.target;
	const result = document.getElementById('test-notice-result');
	result.textContent = 'Sending...';
	act(form.querySelector('button'), async () => {
		const report = await post('/sandbox/test-notice', Object.fromEntries(new FormData(form)));
		result.textContent = report.status
			? 'Answered ' + report.status + ': ' + (report.answer || '(empty)')
			: (report.outcome ?? 'error') + ': ' + (report.error ?? report.message ?? '');
	}).catch((error) => { result.textContent = String(error); });
});

setInterval(refresh, REFRESH_MS);
`;
