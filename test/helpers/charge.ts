import type { Sandbox, StoredTransaction } from '../sandbox';

/** Charges a made-up customer without the node, and returns the hash of the transaction. */
export async function chargeAt(
	sandbox: Sandbox,
	notificationUrl?: string,
	more: object = {},
): Promise<string> {
	const offer = sandbox.products[0]?.offers[0];
	const response = await fetch(`${sandbox.baseUrl}/transactions`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${sandbox.apiToken}`,
			'content-type': 'application/json',
		},
		body: JSON.stringify({
			api_token: sandbox.bodyApiToken,
			amount: 1990,
			payment_method: 'pix',
			installments: 1,
			cart: [
				{ offer_hash: offer?.hash, price: 1990, quantity: 1, operation_type: 1, title: 'Curso' },
			],
			customer: {
				name: 'Maria da Silva',
				email: 'maria@example.test',
				phone_number: '11987654321',
				document: '52998224725',
			},
			...(notificationUrl === undefined ? {} : { webhook_url: notificationUrl }),
			...more,
		}),
	});
	const made = (await response.json()) as { hash?: string };
	if (made.hash === undefined) throw new Error(`Not charged: ${JSON.stringify(made)}`);
	return made.hash;
}

/** Like `chargeAt`, but returns the transaction. */
export async function transactionAt(sandbox: Sandbox): Promise<StoredTransaction> {
	const hash = await chargeAt(sandbox);
	const stored = sandbox.transactions.find((each) => each.hash === hash);
	if (!stored) throw new Error(`${hash} is not in the sandbox`);
	return stored;
}

/** Charges the customer several times. */
export async function chargesAt(sandbox: Sandbox, count: number): Promise<string[]> {
	const hashes: string[] = [];
	while (hashes.length < count) hashes.push(await chargeAt(sandbox));
	return hashes;
}

/** Makes a valid CPF from a number by appending digits up to eleven. The last two are check digits. */
export function cpf(number: number): string {
	const digits = [...String(number)].map(Number);
	while (digits.length < 11) {
		const weighed = digits.map((digit, index) => digit * (digits.length + 1 - index));
		digits.push(((weighed.reduce((sum, one) => sum + one, 0) * 10) % 11) % 10);
	}
	return digits.join('').replace(/^(\d{3})(\d{3})(\d{3})/, '$1.$2.$3-');
}
