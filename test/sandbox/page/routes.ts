import type { FastifyInstance } from 'fastify';
import type { SandboxParts } from '../api/context';
import { SCRIPT } from './script';
import {
	credentialCard,
	offerList,
	requestList,
	testNoticeCard,
	transactionList,
} from './sections';
import { STYLE } from './style';

/** The page for people at `/`, and nothing a browser would otherwise ask for in vain. */
export function registerPage(app: FastifyInstance, parts: SandboxParts): void {
	app.get('/', async (_request, reply) => {
		void reply.header('content-type', 'text/html; charset=UTF-8');
		void reply.header('cache-control', 'no-store');
		return await reply.send(renderPage(parts));
	});
	app.get('/favicon.ico', async (_request, reply) => await reply.code(204).send());
}

function renderPage(parts: SandboxParts): string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Digital Sales sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<div class="page">
<div class="top">
	<h1>Digital Sales sandbox</h1>
	<p>Simulates the service on your machine. No money moves here.</p>
	<button class="small" data-reset data-testid="reset">Reset</button>
</div>
<div class="columns">
<main>
	<div id="transactions" data-live data-testid="transactions">${transactionList(parts)}</div>
</main>
<aside>
	${credentialCard(parts)}
	${testNoticeCard()}
	<section class="card"><h2>Offers created</h2>
		<div id="offers" data-live data-testid="offers">${offerList(parts)}</div></section>
	<section class="card"><h2>Latest requests</h2>
		<div id="requests" data-live data-testid="requests">${requestList(parts)}</div></section>
</aside>
</div>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
}
