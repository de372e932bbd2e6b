from typing import Optional, Tuple
import tracegrad as torch
from tracegrad import nn
from tracegrad.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence


class Tagger(nn.Module):
    def __init__(self, vocab: int, emb: int, hidden: int, bidirectional: bool = True) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, num_layers=2, batch_first=True, bidirectional=bidirectional, dropout=0.1)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.cell = nn.LSTMCell(emb, hidden)
        self.out = nn.Linear(hidden * (2 if bidirectional else 1), 3)

    def init_hidden(self, n: int) -> Tuple[torch.Tensor, torch.Tensor]:
        weight = next(self.parameters()).data
        return weight.new(4, n, 5).zero_(), weight.new_zeros(4, n, 5)

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor, hidden: Optional[Tuple[torch.Tensor, torch.Tensor]] = None
    ) -> torch.Tensor:
        emb = self.embed(x)
        packed = pack_padded_sequence(emb, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, (h, c) = self.lstm(packed, hidden)
        unpacked, _ = pad_packed_sequence(out, batch_first=True)
        y, last = self.gru(emb)
        hx, cx = self.cell(emb[:, 0])
        hx, cx = self.cell(emb[:, 1], (hx, cx))
        return self.out(unpacked)


model = Tagger(10, 4, 5)
seqs = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
x = pad_sequence(seqs, batch_first=True, padding_value=0)
lengths = torch.tensor([len(s) for s in seqs])
print(model(x, lengths).shape, model(x, lengths, model.init_hidden(2)).shape)
