import { randomBytes } from 'node:crypto';
import { freshHash, seedCatalog } from './catalog';
import type { CreatedOffer, Offer, Product, StoredTransaction } from './types';

// Random without a seed: an n8n that outlives a sandbox must not get the same hash for a new charge.
const chance = (): number => randomBytes(4).readUInt32BE() / 4294967296;

const FIRST_PRODUCT_ID = 1001;

/** The data of the simulated platform. */
export class SandboxState {
	readonly products: Product[] = [];
	readonly createdOffers: CreatedOffer[] = [];
	/** Oldest first. */
	readonly transactions: StoredTransaction[] = [];

	private readonly byHash = new Map<string, StoredTransaction>();
	private readonly hashes = new Set<string>();
	private nextId = 48_213;
	/** JSON, because to clone a large catalog takes longer. */
	private readonly seeded: string;

	constructor(productCount: number) {
		this.seeded = JSON.stringify(seedCatalog(productCount, this.hashes));
		this.reset();
	}

	reset(): void {
		this.products.splice(0, Infinity, ...(JSON.parse(this.seeded) as Product[]));
		this.createdOffers.length = 0;
		this.transactions.length = 0;
		this.byHash.clear();
	}

	product(hash: string): Product | undefined {
		return this.products.find((product) => product.hash === hash);
	}

	/** An offer with its product and the product's numeric id, which only transaction items show. */
	soldOffer(hash: string) {
		for (const [index, product] of this.products.entries()) {
			const offer = product.offers.find((one) => one.hash === hash);
			if (offer) return { offer, product, productId: FIRST_PRODUCT_ID + index };
		}
		return undefined;
	}

	transaction(hash: string): StoredTransaction | undefined {
		return this.byHash.get(hash);
	}

	addOffer(product: Product, offer: Offer, request: Record<string, unknown>): void {
		product.offers.push(offer);
		this.createdOffers.push({ product_hash: product.hash, offer, request });
	}

	addTransaction(transaction: StoredTransaction): void {
		this.transactions.push(transaction);
		this.byHash.set(transaction.hash, transaction);
	}

	newHash(): string {
		return freshHash(chance, 10, this.hashes);
	}

	newId(): number {
		return ++this.nextId;
	}
}
