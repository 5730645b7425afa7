import { enterSharedN8n, type Guest } from '../helpers/e2e/sharedN8n';
import {
	addressOf,
	cartOf,
	createPix,
	Downstream,
	publish,
	trigger,
	webStart,
} from '../helpers/e2e/workflows';
import { postJson } from '../helpers/http';

describe('What Brazil sends, in a real n8n', () => {
	let guest: Guest;
	let downstream: Downstream;

	beforeAll(async () => {
		guest = await enterSharedN8n();
		downstream = await Downstream.open();
	});
	beforeEach(() => downstream.clear());
	afterAll(async () => {
		await guest?.close();
		await downstream?.close();
	});

	test('a phone from WhatsApp and a doubled UTM are charged', async () => {
		const charge = createPix({
			cart: cartOf(guest.sandbox),
			customerPhone: '={{ $json.body.phone }}',
			webhooksGoTo: 'none',
			additionalFields: { tracking: { utmSource: '={{ $json.query.utm_source }}' } },
		});
		const { id } = await publish(guest, 'whatsapp', [webStart('whatsapp'), charge]);
		const address = `${guest.url}/webhook/whatsapp?utm_source=FB&utm_source=FB`;
		const execution = await guest.rest.startedBy(id, async () => {
			await postJson(address, { phone: '554787654321@s.whatsapp.net' });
		});

		await guest.rest.ended(execution);
		expect(guest.sandbox.requests.at(-1)?.body).toMatchObject({
			customer: { phone_number: '5547987654321' },
			tracking: { utm_source: 'FB' },
		});
	});

	test('tests of real platforms are answered 200, and start nothing', async () => {
		await publish(guest, 'tests', [trigger('tests'), downstream.node]);
		const tests = [
			{ data_criacao: '2024-01-23T20:32:14.429Z', event: 'OPENPIX:CHARGE_COMPLETED' },
			{ evento: 'teste_webhook', data_criacao: '2026-05-21T13:24:06.791Z' },
			{ event: 'teste', data: { id: 123 } },
			{ test: true, status: 'paid', type: 'order', transaction_id: 'R3NYZR' },
			{ type: 'abandoned-cart', status: 'lost_cart' },
		];

		for (const body of tests) {
			expect((await postJson(addressOf(guest, 'tests'), body)).status).toBe(200);
		}
		expect(await downstream.reaches(0)).toBe(0);
	});
});
