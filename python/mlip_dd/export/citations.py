"""What to cite for each family of models, in BibTeX, as the packages themselves ask for it."""


def _entry(kind: str, key: str, **fields: str) -> str:
    lines = ",\n".join(f" {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}\n}}"


MACE = _entry("inproceedings", "Batatia2022mace",
              author="Batatia, Ilyes and Kovacs, David Peter and Simm, Gregor N. C. and Ortner, Christoph and "
                     "Csanyi, Gabor",
              title="{MACE}: Higher Order Equivariant Message Passing Neural Networks for Fast and Accurate Force Fields",
              booktitle="Advances in Neural Information Processing Systems", year="2022",
              url="https://openreview.net/forum?id=YPpSngE-ZU")

SEVENNET = _entry("article", "Park2024sevennet",
                  author="Park, Yutack and Kim, Jaesun and Hwang, Seungwoo and Han, Seungwu",
                  title="Scalable Parallel Algorithm for Graph Neural Network Interatomic Potentials in Molecular "
                        "Dynamics Simulations",
                  journal="J. Chem. Theory Comput.", volume="20", pages="4857--4868", year="2024",
                  doi="10.1021/acs.jctc.4c00190")

_NEQUIP_CODE = _entry("article", "Tan2026nequip",
                      author="Tan, Chuin Wei and Descoteaux, Marc L. and Kotak, Mit and Nascimento, Gabriel de Miranda "
                             "and Kavanagh, Se{\\'a}n R. and Zichi, Laura and Wang, Menghang and Saluja, Aadit and Hu, "
                             "Yizhong R. and Smidt, Tess and Johansson, Anders and Witt, William C. and Kozinsky, Boris "
                             "and Musaelian, Albert",
                      title="High-performance training and inference for deep equivariant interatomic potentials",
                      journal="Digital Discovery", year="2026", doi="10.1039/D5DD00423C")

NEQUIP = _entry("article", "Batzner2022nequip",
                author="Batzner, Simon and Musaelian, Albert and Sun, Lixin and Geiger, Mario and Mailoa, Jonathan P. "
                       "and Kornbluth, Mordechai and Molinari, Nicola and Smidt, Tess E. and Kozinsky, Boris",
                title="{E}(3)-equivariant graph neural networks for data-efficient and accurate interatomic potentials",
                journal="Nature Communications", volume="13", pages="2453", year="2022",
                doi="10.1038/s41467-022-29939-5")

ALLEGRO = _entry("article", "Musaelian2023allegro",
                 author="Musaelian, Albert and Batzner, Simon and Johansson, Anders and Sun, Lixin and Owen, Cameron J. "
                        "and Kornbluth, Mordechai and Kozinsky, Boris",
                 title="Learning local equivariant representations for large-scale atomistic dynamics",
                 journal="Nature Communications", volume="14", pages="579", year="2023",
                 doi="10.1038/s41467-023-36329-y")

AIMNET2 = _entry("article", "Anstine2025aimnet2",
                 author="Anstine, Dylan M and Zubatyuk, Roman and Isayev, Olexandr",
                 title="{AIMNet2}: A Neural Network Potential to Meet Your Neutral, Charged, Organic, and "
                       "Elemental-Organic Needs",
                 journal="Chemical Science", volume="16", pages="10228--10244", year="2025", doi="10.1039/D4SC08572H")

CHGNET = _entry("article", "Deng2023chgnet",
                author="Deng, Bowen and Zhong, Peichen and Jun, KyuJung and Riebesell, Janosh and Han, Kevin and Bartel, "
                       "Christopher J. and Ceder, Gerbrand",
                title="{CHGNet} as a pretrained universal neural network potential for charge-informed atomistic "
                      "modelling",
                journal="Nature Machine Intelligence", year="2023", doi="10.1038/s42256-023-00716-3")

TORCHANI = _entry("article", "Gao2020torchani",
                  author="Gao, Xiang and Ramezanghorbani, Farhad and Isayev, Olexandr and Smith, Justin S. and Roitberg, "
                         "Adrian E.",
                  title="{TorchANI}: A Free and Open Source {PyTorch} Based Deep Learning Implementation of the {ANI} "
                        "Neural Network Potentials",
                  journal="Journal of Chemical Information and Modeling", volume="60", number="7", pages="3408--3415",
                  year="2020", doi="10.1021/acs.jcim.0c00451")

SO3LR = _entry("article", "Kabylda2025so3lr",
               author="Kabylda, Adil and Frank, J. Thorben and Su{\\'a}rez-Dou, Sergio and Khabibrakhmanov, Almaz and "
                      "Medrano Sandonas, Leonardo and Unke, Oliver T. and Chmiela, Stefan and M{\\\"u}ller, Klaus-Robert "
                      "and Tkatchenko, Alexandre",
               title="Molecular Simulations with a Pretrained Neural Network and Universal Pairwise Force Fields",
               journal="Journal of the American Chemical Society", year="2025", doi="10.1021/jacs.5c09558")

# By the `family` of the spec file.
CITATIONS = {
    "aimnet2": [AIMNET2],
    "allegro": [ALLEGRO, _NEQUIP_CODE],
    "ani": [TORCHANI],
    "chgnet": [CHGNET],
    "mace": [MACE],
    "mace_lammps": [MACE],
    "nequip": [NEQUIP, _NEQUIP_CODE],
    "nequip_forces": [_NEQUIP_CODE],    # of either package
    "sevennet": [SEVENNET],
    "so3lr": [SO3LR],
}
